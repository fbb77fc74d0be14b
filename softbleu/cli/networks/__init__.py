"""`softbleu networks`: a command a file; each does its work by one call to the library."""

from softbleu.cli.groups import make_group
from softbleu.cli.networks.info import info_networks
from softbleu.cli.networks.make import make_networks
from softbleu.cli.networks.sample import sample_network
from softbleu.cli.networks.show import show_network

networks_app = make_group(
    "networks",
    "Reference networks: the many ways to say it, from one reference.",
    make_networks,
    info_networks,
    sample_network,
    show_network,
)
