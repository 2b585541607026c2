/** The command line with the files that the bundle is made of (cli/program.ts). */
import { perform } from '../../../cli/perform.js';

const [name = '', ...words] = process.argv.slice(2);
process.exitCode = await perform(name, words);
