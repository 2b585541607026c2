#!/usr/bin/env node
/** The program `aos`: hands the words of the command line to its adapter. */
import { runCommandLine } from './adapters/cli/main.js';
import { composition } from './config/compose/composition.js';

await runCommandLine(process.argv.slice(2), composition);
