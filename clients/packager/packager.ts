#!/usr/bin/env node
import { runCommand } from './run.js';

async function main(): Promise<void> {
  process.exitCode = await runCommand(process.argv.slice(2), process.env, process);
}

void main();
