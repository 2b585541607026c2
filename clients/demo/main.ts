import { runDemo } from './demo.js';
import { runLoop } from './loop/loop.js';
import { DemoStopped } from './service.js';

const DEMOS_BY_NAME: Readonly<Record<string, () => Promise<unknown>>> = { '': runDemo, loop: runLoop };

const [name = ''] = process.argv.slice(2);
const story = DEMOS_BY_NAME[name];
try {
  if (story === undefined) throw new DemoStopped(`There is no demo ${name}: npm run demo, or npm run demo -- loop`);
  await story();
} catch (error) {
  if (!(error instanceof DemoStopped)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
