# Peer effects from observed actions.

fit_game <- function(network, formula, data, id = NULL, interaction = "linear", method = "nls", normalize = TRUE,
                     groups = NULL, ...) {
  graph <- network
  if (inherits(network, "nashgraph_network")) {
    graph <- network$model
  } else if (is.data.frame(network)) {
    graph <- plain_table(network)
  }
  answer <- call_bridge(
    "fit_game",
    graph = graph, formula = formula_text(formula), data = plain_table(data), id = id, interaction = interaction,
    method = method, normalize = normalize, groups = groups, options = list(...)
  )
  answer$coefficients <- as_table(answer$coefficients)
  structure(answer, class = "nashgraph_game_fit")
}

formula_text <- function(formula) {
  if (is.character(formula)) {
    return(formula)
  }
  paste(deparse(formula, width.cutoff = 500L), collapse = " ")
}

coef.nashgraph_game_fit <- function(object, ...) {
  estimates <- object$coefficients$estimate
  names(estimates) <- object$coefficients$term
  estimates
}

print.nashgraph_game_fit <- function(x, ...) {
  cat(x$summary, "\n")
  invisible(x)
}
