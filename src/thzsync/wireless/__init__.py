"""wireless"""
