#!/bin/sh
# Starts a child of its own, tells both process numbers, and leaves neither when its stdin ends.
sleep 60 &
read -r question
echo "$$ $!"
while :; do sleep 1; done
