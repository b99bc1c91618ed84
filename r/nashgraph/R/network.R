# Networks: learned from answers, or estimated from questions about ties.

learn_network <- function(data, id = NULL, method = "auto", degree = NULL, seed = 0L, ...) {
  answer <- call_bridge(
    "learn_network",
    data = plain_table(data), id = id, method = method, degree = degree, seed = as.integer(seed), options = list(...)
  )
  as_network(answer)
}

tie_model <- function(traits = NULL, counts = NULL, n_ties = NULL, reports = NULL, asked = NULL, places = NULL,
                      groups = NULL, known = NULL, answers = NULL, id = NULL, seed = 0L) {
  tables <- list(
    traits = traits, counts = counts, n_ties = n_ties, places = places, groups = groups, answers = answers
  )
  tables <- Filter(Negate(is.null), tables)
  answer <- call_bridge(
    "tie_model",
    tables = lapply(tables, plain_table), reports = plain_table(reports), known = plain_table(known),
    asked = as.list(as.character(asked)), id = id, seed = as.integer(seed)
  )
  as_network(answer)
}

# A data frame with what pandas can read: factors as their labels, no row names, no list columns.
plain_table <- function(data) {
  if (is.null(data)) {
    return(NULL)
  }
  data <- as.data.frame(data, stringsAsFactors = FALSE)
  for (column in names(data)) {
    if (is.list(data[[column]])) {
      raise("nashgraph_input_error", paste0("column '", column, "' holds lists: unnest it first"), parameter = column)
    }
    if (is.factor(data[[column]])) {
      data[[column]] <- as.character(data[[column]])
    }
  }
  rownames(data) <- NULL
  data
}

# Lists of columns from Python as a data frame; a column without rows arrives as an empty list.
as_table <- function(columns) {
  columns <- lapply(columns, unlist)
  as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)
}

as_network <- function(answer) {
  answer$nodes <- as_table(answer$nodes)
  answer$edges <- as_table(answer$edges)
  structure(answer, class = "nashgraph_network")
}

print.nashgraph_network <- function(x, ...) {
  cat("A network of", nrow(x$nodes), "nodes and", nrow(x$edges), "edges,", x$method, "\n")
  cat(x$certificate, "\n")
  for (decision in x$decisions) {
    cat("-", decision, "\n")
  }
  cat("$edges and $nodes are data frames; $model is the fitted Python object.\n")
  invisible(x)
}

as_igraph <- function(network) {
  if (!requireNamespace("igraph", quietly = TRUE)) {
    raise("nashgraph_missing_package", "as_igraph() needs igraph: type install.packages(\"igraph\")")
  }
  igraph::graph_from_data_frame(network$edges, directed = isTRUE(network$directed), vertices = network$nodes)
}
