test_that("counts and numbers of ties give a tie model", {
  set.seed(2)
  n <- 40
  name <- paste("p", 1:n)
  farmer <- rep(0:1, n / 2)
  ties <- matrix(rbinom(n * n, 1, ifelse(outer(farmer, farmer, "=="), 0.25, 0.05)), n)
  ties[lower.tri(ties, diag = TRUE)] <- 0
  ties <- ties + t(ties)
  model <- tie_model(
    traits = data.frame(name, farmer), counts = data.frame(name, farmer = ties %*% farmer),
    n_ties = data.frame(name, ties = rowSums(ties))
  )
  expect_true("expected_ties" %in% names(model$nodes))
  expect_lt(abs(sum(model$nodes$expected_ties) - sum(ties)), 0.2 * sum(ties))
})
