"""Four small systems and what three groups of people think of them: for tests of agreement and of calibration."""

REFERENCE = ["the cat sat on the mat", "it rained all night long"]
OUTPUTS = {
    "a": ["the cat sat on the mat", "it rained all night"],
    "b": ["the cat sat on a mat", "it rained all night long"],
    "c": ["a cat sat on a rug", "it was all night rain"],
    "d": ["a dog sat on a rug", "it rained long all night"],
}
PEOPLE = {
    "x": {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.1},
    "y": {"a": 4.0, "b": 4.5, "c": 1.0, "d": 2.0},
    "z": {"a": 3.0, "b": 1.0, "c": 2.0, "d": 0.0},
}
