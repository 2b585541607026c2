#!/bin/sh
cd "$(dirname "$0")" && exec "${SHOP_NODE:-node}" till.mjs
