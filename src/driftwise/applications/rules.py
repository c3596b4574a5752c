"""The rules that people use, from the room of contests, where comparisons of a user's own file find them as well."""

from driftwise.experiments.contests.rules import STEPS as STEPS
from driftwise.experiments.contests.rules import autoscaler as autoscaler
from driftwise.experiments.contests.rules import descents as descents
from driftwise.experiments.contests.rules import follow as follow
from driftwise.experiments.contests.rules import inverse_errors as inverse_errors
from driftwise.experiments.contests.rules import last as last
from driftwise.experiments.contests.rules import moving_average as moving_average
from driftwise.experiments.contests.rules import quantile_so_far as quantile_so_far
from driftwise.experiments.contests.rules import smoothed as smoothed
from driftwise.experiments.contests.rules import switch as switch
