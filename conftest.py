"""What pytest must leave alone if a library is not installed: modules of the GPU, its kernels, the web server."""

from importlib.util import find_spec

CUDA = "src/nashgraph/pairs/cuda"
collect_ignore_glob = [] if find_spec("torch") else [f"{CUDA}/*.py"]
collect_ignore = [] if find_spec("triton") else [f"{CUDA}/_kernels.py"]
if not (find_spec("starlette") and find_spec("uvicorn")):
    collect_ignore += ["src/nashgraph/cli/ui/server.py", "tests/cli/ui_server.py"]
