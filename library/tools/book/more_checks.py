"""What the book's checker makes and checks besides, where the libraries are."""
import drawn
import suite

CHECKS = [suite.check, drawn.check]
