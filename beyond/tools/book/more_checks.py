"""What the book's checker makes and checks besides, where part two is."""
import drawn
import suite

CHECKS = [suite.check, drawn.check]
