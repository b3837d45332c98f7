"""The lessons as a web site: `make site`, `grading site`."""
