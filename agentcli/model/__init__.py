"""The model room: requests, cache breakpoints, retries, costs, and the monitor that explains every cache break."""
