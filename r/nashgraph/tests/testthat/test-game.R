test_that("a peer effect is found on a known network", {
  set.seed(3)
  n <- 300
  W <- matrix(rbinom(n * n, 1, 5 / n), n)
  diag(W) <- 0
  sums <- rowSums(W)
  G <- W / pmax(sums, 1)
  age <- rnorm(n)
  savings <- solve(diag(n) - 0.4 * G, 1 + 0.5 * age + rnorm(n, sd = 0.3))
  who <- paste("p", 1:n)
  ends <- which(W == 1, arr.ind = TRUE)
  # An edge from source to target is the influence of the source on the target: row i of W listens to column j.
  edges <- data.frame(source = who[ends[, 2]], target = who[ends[, 1]])
  fit <- fit_game(edges, savings ~ age, data.frame(name = who, age, savings), id = "name")
  expect_s3_class(fit, "nashgraph_game_fit")
  expect_lt(abs(fit$peer_effect - 0.4), 3 * fit$standard_error + 0.02)
  expect_true("age" %in% names(coef(fit)))
})
