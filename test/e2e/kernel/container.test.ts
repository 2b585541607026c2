/** Keys of the container before the compiler. */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../../architecture/tree.js';

describe('container: type checks', () => {
  const root = projectRoot();
  const compile = async (fixture: string): Promise<string> => {
    const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const project = join(root, 'test', 'fixtures', 'injection', fixture);
    try {
      await promisify(execFile)(process.execPath, [compiler, '-p', project, '--pretty', 'false']);
      return '';
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };

  it('accept tokens that match their parameters', async () => {
    expect(await compile('fits')).to.equal('');
  });

  it('reject a class, a token and a part of a token that do not match, at the parameter', async () => {
    const reported = await compile('mismatches');
    const places = [...reported.matchAll(/mismatches\.ts\((\d+),/g)].map(([, line]) => Number(line));
    const source = await readFile(join(root, 'test/fixtures/injection/mismatches/mismatches.ts'), 'utf8');
    const marked = source.split('\n').flatMap((line, i) => (line.endsWith('// refused') ? [i + 1] : []));
    expect(places, reported).to.deep.equal(marked);
    expect(marked).to.have.length(3);
    expect(reported).to.match(/the key gives/);
  });
});
