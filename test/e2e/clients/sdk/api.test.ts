/** The public surface of the SDK is reviewed: it changes only together with its report in docs/. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../architecture/tree.js';
import { runAndGetOutput } from '../../../support/programs.js';

describe('sdk: API report', function () {
  it('matches the code: run `node scripts/plugin-api.mjs` after an API change', async () => {
    const text = await runAndGetOutput(process.execPath, ['scripts/plugin-api.mjs', '--print', 'sdk-api'], {
      cwd: projectRoot(),
    });
    expect(text).to.equal(await readFile(join(projectRoot(), 'docs', 'sdk-api.md'), 'utf8'));
    expect(text).to.include('createClient').and.include('## clients/sdk/client\n');
  });
});
