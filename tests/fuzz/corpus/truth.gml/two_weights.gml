graph [
  directed 1
  node [
    id 0
    label "ann"
  ]
  node [
    id 1
    label "bob"
  ]
  node [
    id 2
    label "cat"
  ]
  node [
    id 3
    label "dan"
  ]
  edge [
    source 0
    target 1
    weight 0.arget 2
    weight 0.5
  ]
  edge [
    source 3
    target 0
    weight 0.5
  ]
]
