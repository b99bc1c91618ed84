survey <- function() {
  set.seed(1)
  side <- rep(c("north", "south"), each = 15)
  centre <- ifelse(side == "north", 4, 2)
  answers <- sapply(1:6, function(k) round(centre + rnorm(30, sd = 0.7), 2))
  colnames(answers) <- paste0("q", 1:6)
  data.frame(name = paste("person", 1:30), side = factor(side), answers)
}

test_that("a survey becomes a network of the people in it", {
  network <- learn_network(survey(), id = "name")
  expect_s3_class(network, "nashgraph_network")
  expect_setequal(network$nodes$name, paste("person", 1:30))
  expect_true(all(c("source", "target", "weight") %in% names(network$edges)))
  expect_output(print(network), "30 nodes")
})

test_that("rows in another order give the same network", {
  data <- survey()
  one <- learn_network(data, id = "name")$edges
  other <- learn_network(data[nrow(data):1, ], id = "name")$edges
  key <- function(edges) {
    ends <- cbind(pmin(edges$source, edges$target), pmax(edges$source, edges$target))
    edges[order(ends[, 1], ends[, 2]), "weight"]
  }
  expect_equal(key(one), key(other), tolerance = 1e-6)
})

test_that("what Python refuses is an R error with its parameter", {
  error <- tryCatch(learn_network(survey(), id = "nobody"), error = identity)
  expect_s3_class(error, "nashgraph_input_error")
  expect_match(conditionMessage(error), "nobody")
})

test_that("a warning of Python is an R warning of its own class", {
  data <- survey()
  data[2, -1] <- data[1, -1]
  expect_warning(learn_network(data, id = "name"), class = "nashgraph_warning")
})

test_that("list columns are refused by name", {
  data <- survey()
  data$friends <- as.list(1:30)
  expect_error(learn_network(data), "friends", class = "nashgraph_input_error")
})

test_that("a network goes to igraph with all its nodes", {
  skip_if_not_installed("igraph")
  network <- learn_network(survey(), id = "name")
  graph <- as_igraph(network)
  expect_equal(igraph::vcount(graph), 30)
  expect_equal(igraph::ecount(graph), nrow(network$edges))
})
