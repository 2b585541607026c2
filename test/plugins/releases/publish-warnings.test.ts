/** What a publish warns about (contract 40, amendments). */
import { expect } from 'chai';
import { listPublishWarnings } from '../../../plugins/releases/publishing/publish-warnings.js';

const release = (more: object = {}) => ({
  version: '2.0.0',
  min_version: null,
  preserve_patterns: ['conf/*.json'],
  files: ['app.js', 'conf/app.json', 'data/seed.db'].map((path) => ({
    path,
    size: 1,
    sha256: '',
    mode: '0644' as const,
  })),
  setup: null,
  ...more,
});
const earlier = (
  version: string,
  preserve_patterns: string[] = ['conf/*.json'],
  withdrawn_at: string | null = null,
) => ({
  version,
  preserve_patterns,
  withdrawn_at,
});
const setup = (...targets: object[]) => ({ schema: 1, values: [{ name: 'a', targets }] });

describe('publishWarnings', () => {
  const CASES: [name: string, release: object, others: ReturnType<typeof earlier>[], expected: RegExp | null][] = [
    ['nothing for a first release', {}, [], null],
    ['nothing where the patterns are the same', {}, [earlier('1.0.0')], null],
    [
      'patterns of the version before that are missing (S04)',
      { preserve_patterns: [] },
      [earlier('1.0.0')],
      /^preserve_patterns of 1\.0\.0 are missing: conf\/\*\.json\./,
    ],
    [
      'the newest version before, not an older one',
      { preserve_patterns: ['a'] },
      [earlier('1.0.0'), earlier('1.9.0', ['a'])],
      null,
    ],
    [
      'no newer or withdrawn version',
      { preserve_patterns: [] },
      [earlier('3.0.0'), earlier('1.0.0', ['x'], 'now')],
      null,
    ],
    [
      'a setup target that is a packaged file (S03)',
      { setup: setup({ file: 'data/seed.db' }) },
      [],
      /^setup\.json writes to packaged files .*: data\/seed\.db\./,
    ],
    ['no preserved target', { setup: setup({ file: 'conf/app.json', location: 'install' }) }, [], null],
    [
      'no target elsewhere',
      { setup: setup({ file: 'data/seed.db', location: 'data' }, { file: '${HOME}/x' }) },
      [],
      null,
    ],
    ['nothing for a setup of another shape', { setup: { values: [null, 3, { targets: [null, 'x'] }] } }, [], null],
    [
      'a step that only a withdrawn release offers',
      { min_version: '1.5.0' },
      [earlier('1.0.0'), earlier('1.5.0', ['conf/*.json'], 'now')],
      /^Only withdrawn releases lead from below 1\.5\.0 to 2\.0\.0/,
    ],
    [
      'nothing while another step is offered',
      { min_version: '1.5.0' },
      [earlier('1.5.0', ['conf/*.json'], 'now'), earlier('1.6.0')],
      null,
    ],
  ];
  for (const [name, more, others, expected] of CASES)
    it(`reports ${name}`, () => {
      const warnings = listPublishWarnings(release(more), others);
      if (expected === null) expect(warnings).to.deep.equal([]);
      else
        expect(warnings)
          .to.have.length(1)
          .and.satisfy(([text]: string[]) => expected.test(text ?? ''));
    });
});
