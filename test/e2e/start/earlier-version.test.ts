/**
 * What a process of the version before a migration writes into a store that has it, for each migration of stored data
 * (docs/operations.md, several versions on one store): the real program, as it was before the step.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../../config/load.js';
import { engines } from '../../support/engines.js';
import { otherVersion, type Edit, type OtherVersion } from '../../support/other-version.js';
import { QUIET, TestService } from '../../support/service.js';

/** The program knows the first `n` migrations, and no job that makes up for an earlier version. */
const knowing = (n: number): Edit[] => [
  { at: String.raw`(AGENT_REQUESTED\. event \],[^{}]*migrations: )(MIGRATIONS\w*)`, instead: `$1$2.slice(0,${n})` },
  {
    at: String.raw`, \{ name: "older_writes",[^{}]*run: \( \{ signal \} \) => \w+\. catchUp\( signal \) \}`,
    instead: '',
  },
];
/** It marks neither versions nor hosts. */
const unmarked: Edit = { at: String.raw`(function addedMarks\([^)]*\) \{)`, instead: '$1return null;' };
const withoutMarks: Edit = {
  at: String.raw`version_marks:(\w+)\. version_marks, host_marks:\1\. host_marks,`,
  instead: '',
};
const withThreeTexts: Edit[] = [
  {
    at: String.raw`search_text: (searchedIn\([^)]*\)),`,
    instead: String.raw`search_text:$1.split("\u001f").slice(0,3).join("\u001f"),`,
  },
  { at: String.raw`return description \? (?=\{ id: \w+, project, text: wordsText)`, instead: 'return false?' },
];

interface Step {
  migration: string;
  edits: readonly Edit[];
  /** By which its items are not found until this version has looked through them. */
  lost: readonly string[];
}

const BY_TEXT = ['q=src%2Ftax.ts', 'q=dazumal'];
const BY_PLACE = ['version=2.0.0', 'host=web-9'];
const STEPS: readonly Step[] = [
  {
    migration: 'searched-words',
    edits: [...knowing(1), unmarked, withoutMarks, ...withThreeTexts],
    lost: [...BY_TEXT, ...BY_PLACE],
  },
  {
    migration: 'place-marks',
    edits: [...knowing(2), unmarked, withoutMarks],
    lost: BY_PLACE,
  },
];

for (const { migration, edits, lost } of STEPS)
  describe(`a process from before the migration ${migration}`, function () {
    this.timeout(180_000);
    /** The one of this version is in this process: what the earlier one does is tested. */
    let service: TestService | undefined;
    let earlier: TestService | undefined;
    let program: OtherVersion | undefined;
    before(async () => {
      const about = JSON.parse(await readFile(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
      const [major = 0, minor = 0] = about.version.split('.').map(Number);
      program = await otherVersion(`${major}.${minor - 1}.0`, edits);
    });
    afterEach(async () => {
      await earlier?.dispose();
      await service?.dispose();
    });
    after(() => program?.remove());

    for (const engine of engines)
      it(`loses nothing on ${engine.name}: what it writes is found by all of it`, async function () {
        const settings = (await engine.settings()) ?? this.skip();
        const now = await TestService.create({ ...QUIET, ...settings });
        service = now;
        const before = await TestService.create(settings, engine.name === 'sqlite' ? now.dataDir : undefined);
        earlier = before;
        before.cli = program?.cli ?? '';
        // The embedded store is served by one process at a time: there it is a way back.
        await now.startHere();
        await now.project('shop');
        const token = await now.token('bugtracker:report,bugtracker:read');
        const found = async (by: TestService, query: string): Promise<unknown[]> => {
          const { status, body } = await by.request('GET', `/api/bugtracker/v1/bugs?${query}`, token);
          expect(status, JSON.stringify(body)).to.equal(200);
          return (body['items'] as { title: string }[]).map(({ title }) => title);
        };
        if (engine.name === 'sqlite') await now.end();
        await before.start();
        const bug = { project: 'shop', title: 'Totals differ', description: 'anno dazumal' };
        const error = { project: 'shop', error_message: 'no rate', exception_class: 'TaxError', file: 'src/Tax.ts' };
        const seen = { ...error, error_level: 'error', app_version: '2.0.0', host: 'web-9' };
        for (const [path, body] of [
          ['/api/bugtracker/v1/report', bug],
          ['/api/errors/v1/report', seen],
        ] as const) {
          const { status, body: answer } = await before.request('POST', path, token, body);
          expect(status, JSON.stringify(answer)).to.equal(201);
        }
        for (const query of lost) expect(await found(before, query), query).to.deep.equal([]);
        await before.end();
        if (engine.name === 'sqlite') await now.startHere();
        // Every hour, and with each `aos tick`.
        await now.runJob('bugs.older_writes');
        for (const query of [...BY_TEXT, ...BY_PLACE]) expect(await found(now, query), query).to.have.lengthOf(1);
      });
  });
