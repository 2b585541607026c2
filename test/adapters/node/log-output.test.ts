import { expect } from 'chai';
import { LogOutput, type LostLines, type LogDescriptor } from '../../../adapters/node/log-output.js';
import { waitUntil } from '../../harness.js';

const fault = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/**
 * A file that takes what it is told to: null everything, a number so many bytes of a write, a code
 * nothing.
 */
class Scripted implements LogDescriptor {
  #taken: Buffer[] = [];
  asked = 0;
  answer: number | string | null = null;
  write: LogDescriptor['write'] = (bytes, done) => {
    this.asked += 1;
    setImmediate(() => {
      if (typeof this.answer === 'string') done(fault(this.answer), 0);
      else done(null, this.#take(bytes));
    });
  };
  writeSync: LogDescriptor['writeSync'] = (bytes) => {
    this.asked += 1;
    if (typeof this.answer === 'string') throw fault(this.answer);
    return this.#take(bytes);
  };
  #take(bytes: Buffer): number {
    const length = Math.min(bytes.length, (this.answer as number | null) ?? bytes.length);
    this.#taken.push(bytes.subarray(0, length));
    return length;
  }
  get text(): string {
    return Buffer.concat(this.#taken).toString('utf8');
  }
}

describe('LogOutput', () => {
  let file: Scripted;
  let lost: LostLines[];
  let output: LogOutput;
  beforeEach(() => {
    file = new Scripted();
    lost = [];
    output = new LogOutput(file, (what) => lost.push(what));
  });
  afterEach(() => {
    file.answer = null;
    output.flushSync();
  });
  const flushed = (): Promise<void> => new Promise((resolve) => output.flush(resolve));

  it('writes every line once, in order, even after a partial write within a character', async () => {
    file.answer = 3;
    const lines = Array.from({ length: 50 }, (_, index) => `line ${index} é€😀\n`);
    for (const line of lines) output.write(line);
    await flushed();
    expect(file.text).to.equal(lines.join(''));
    expect(file.asked).to.be.greaterThan(lines.length);
  });

  it('buffers lines while the disk is full, and flushes them afterwards', async () => {
    file.answer = 'ENOSPC';
    output.write('one\n');
    await flushed();
    output.write('two\n');
    expect(file.text).to.equal('');
    file.answer = null;
    await waitUntil('both lines', () => file.text === 'one\ntwo\n');
    expect(lost).to.deep.equal([]);
  });

  it('drops lines above its limit, and then logs their number', async () => {
    file.answer = 'ENOSPC';
    const line = `${'x'.repeat(1023)}\n`;
    for (let index = 0; index < 5_000; index++) output.write(line);
    await flushed();
    file.answer = null;
    await waitUntil('what was lost', () => lost.length === 1);
    // Beside the 4 MiB that wait there is the line that was being written.
    expect(lost).to.deep.equal([{ lines: 5_000 - 4_096 - 1, code: 'ENOSPC' }]);
  });

  it('stops when the reading end of the pipe is closed', async () => {
    file.answer = 'EPIPE';
    output.write('one\n');
    await flushed();
    output.write('two\n');
    output.flushSync();
    expect(file.asked).to.equal(1);
  });

  it('flushes the buffer at process exit, and does not wait for a full disk', async () => {
    file.answer = 'ENOSPC';
    output.write('one\n');
    await flushed();
    output.flushSync();
    expect(file.asked).to.equal(2);
    file.answer = 2;
    output.flushSync();
    expect(file.text).to.equal('one\n');
  });
});
