#!/usr/bin/env node
/**
 * Entry point of `packager`, which packs, validates and publishes a build (contract 90, packager;
 * docs/packager.md).
 */
import { runCommand } from './run.js';

async function main(): Promise<void> {
  process.exitCode = await runCommand(process.argv.slice(2), process.env, process);
}

void main();
