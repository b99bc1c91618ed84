library(testthat)
library(nashgraph)
test_check("nashgraph")
