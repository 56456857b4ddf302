"""Kernels: functions over arrays that numba compiles, and the cache of what it has made of them. May touch the cache's
own files; knows neither keys nor jobs.
"""
