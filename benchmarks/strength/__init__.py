"""The strength of the graders over a hundred seeds: errors, named mistakes, margins (`make measure`)."""
