/** Memory outside V8's heap, in a process as the one that makes backups. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

const MIB = 1024 * 1024;
const MODULE = new URL('../../../../lib/process/spent-memory.js', import.meta.url).href;
/** Reads 128 pieces of a mebibyte, as a copy of a file does, and prints how many were held at once at most. */
const READER = `
  const { spentMemory } = await import(process.argv[1]);
  const spent = spentMemory();
  let most = 0;
  for (let n = 0; n < 128; n++) {
    Buffer.alloc(${MIB});
    spent(${MIB});
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log(Math.round(most / ${MIB}));
`;

describe('memory of pieces that are not needed any more', () => {
  const most = async (...flags: string[]): Promise<number> => {
    const args = [...flags, '--input-type=module', '--eval', READER, MODULE];
    return Number((await promisify(execFile)(process.execPath, args)).stdout);
  };

  it('is given back after each four mebibytes, not after the 64 of V8', async () => {
    expect(await most('--expose-gc')).to.be.at.most(8);
  });

  it('is left to V8 where the process was not asked to', async () => {
    expect(await most()).to.be.above(16);
  });
});
