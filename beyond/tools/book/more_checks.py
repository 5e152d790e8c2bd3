"""What the book's checker makes and checks besides, where part two is."""
import drawn
import ratios
import suite

CHECKS = [suite.check, ratios.check, drawn.check]
