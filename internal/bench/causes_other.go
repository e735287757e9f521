//go:build !linux

package main

// The causes were looked for on Linux.

func causesTitle(options) string { return "" }

func causes(options) []contestant { return nil }
