collect_ignore = ["guided.py"]  # it needs atheris, and is a command
