# How R reaches the Python library. Nothing is imported when the package is loaded: Python starts with the first call.

ENVIRONMENT <- "r-nashgraph" # the virtual environment that install_nashgraph() creates

.onLoad <- function(libname, pkgname) {
  # A package that fails on load cannot be repaired from inside R, so a problem here waits for the first call.
  try(choose_python(), silent = TRUE)
}

# Newer versions of reticulate install what a package requires; older ones use the environment made by hand.
choose_python <- function() {
  if ("py_require" %in% getNamespaceExports("reticulate")) {
    getExportedValue("reticulate", "py_require")("nashgraph")
  } else if (reticulate::virtualenv_exists(ENVIRONMENT)) {
    reticulate::use_virtualenv(ENVIRONMENT, required = FALSE)
  }
}

# The Python side of this package: inst/python/nashgraph_r.py.
bridge <- function() {
  if (!reticulate::py_module_available("nashgraph")) {
    raise(
      "nashgraph_not_installed",
      paste0(
        "Python has no nashgraph. Type nashgraph::install_nashgraph(), or set RETICULATE_PYTHON to a Python ",
        "that has it, and restart R."
      )
    )
  }
  reticulate::import_from_path("nashgraph_r", path = system.file("python", package = "nashgraph"), delay_load = FALSE)
}

# Call a function of the bridge. What Python warned of becomes R warnings, what it refused an R error.
call_bridge <- function(name, ...) {
  answer <- bridge()$call(name, list(...))
  for (warning in answer$warnings) {
    warning(condition("nashgraph_warning", warning, class = "warning"))
  }
  if (!is.null(answer$error)) {
    raise(
      "nashgraph_input_error", answer$error$message,
      parameter = answer$error$parameter, remedy = answer$error$remedy
    )
  }
  answer$result
}

condition <- function(name, message, class, ...) {
  structure(list(message = message, call = NULL, ...), class = c(name, class, "condition"))
}

raise <- function(name, message, ...) {
  stop(condition(name, message, class = "error", ...))
}

#' Install the Python library in a virtual environment of its own
install_nashgraph <- function(source = "nashgraph", python = NULL) {
  if (!reticulate::virtualenv_exists(ENVIRONMENT)) {
    reticulate::virtualenv_create(ENVIRONMENT, python = python, packages = NULL)
  }
  reticulate::virtualenv_install(ENVIRONMENT, packages = source, ignore_installed = FALSE)
  message("Installed. Restart R before the first call.")
  invisible(ENVIRONMENT)
}
