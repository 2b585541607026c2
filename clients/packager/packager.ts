#!/usr/bin/env node
/**
 * `packager`: packs a build, checks it by the rules of the service, and publishes it (contract 90, packager;
 * docs/packager.md).
 */
import { run } from './run.js';

async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), process.env, process);
}

void main();
