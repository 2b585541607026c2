/**
 * Reports of users of error trackers, from the event or body to the group (contract 21, grouping
 * and amendments).
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { computeGrouping } from '../../../../plugins/bugs/grouping/grouping-key.js';
import type { ErrorBody } from '../../../../plugins/errorstream/report-body.js';
import { toErrorReport as toReport } from '../../../../plugins/errorstream/report-converter.js';
import { convertEvent as readEvent } from '../../../../plugins/sentry/event-converter.js';
import type { Report } from '../../../../ports/domain/bugs.js';

interface FieldReport {
  name: string;
  groups: number;
  expected: string;
  inputs: Record<string, unknown>[];
  origin?: string;
  title?: string;
}

async function load(file: string): Promise<FieldReport[]> {
  const text = await readFile(new URL(`../../../fixtures/${file}`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { reports: FieldReport[] }).reports;
}

const reports = await load('field-reports/grouping.json');
const variants = await load('vectors/field-variants.json');

const SENDER = { id: 'key', name: 'key', source: 'sdk', address: null } as unknown as Parameters<typeof toReport>[1];

function read(input: Record<string, unknown>): Report {
  const body =
    input['exception'] === undefined
      ? ({ project: 'shop', error_level: 'error', ...input } as unknown as ErrorBody)
      : (readEvent(input, { project: 'shop', id: '1' }).report as unknown as ErrorBody);
  return toReport(body, SENDER, Date.UTC(2026, 10, 28)).report;
}

describe('grouping: field reports', () => {
  for (const { name, groups, expected, inputs, origin, title } of [...reports, ...variants])
    it(`groups ${name} as expected: ${expected}`, () => {
      const found = inputs.map(read);
      const [first] = found;
      expect(new Set(found.map((report) => computeGrouping(report).dedup_key)).size).to.equal(groups);
      if (origin !== undefined) expect(computeGrouping(first as Report).origin).to.equal(origin);
      if (title !== undefined) expect(first?.title).to.equal(title);
    });

  const named = (name: string): Report[] => (reports.find((one) => one.name === name)?.inputs ?? []).map(read);

  it('shows anonymous classes by their full names', () => {
    expect(named('php-anonymous-exception-class')[0]?.exception_class).to.equal('RuntimeException@anonymous');
    expect(named('ruby-anonymous-class')[0]).to.include({ exception_class: '#<Class>', title: '#<Class>: boom' });
  });

  it('shows the async method of a state machine', () =>
    expect(computeGrouping(named('dotnet-async-state-machine')[0] as Report).origin).to.equal('acme.job.runasync'));

  it('shows the file for code that Ruby evaluates from a string', () =>
    expect(computeGrouping(named('ruby-eval-line')[0] as Report).origin).to.equal('app/x.rb'));
});
