/**
 * The shared grouping vectors, posted one after the other to a fresh store (contract 21, grouping).
 */
import { expect } from 'chai';
import { cases } from '../../../support/grouping-vectors.js';
import { getUrgency } from '../../../../lib/urgency.js';
import { parseReportBody, type ReportBody } from '../../../../plugins/bugs/http/report-body.js';
import type { ErrorLevel, Report } from '../../../../ports/domain/bugs.js';
import { errorReport, MANAGER, memoryFixture, settled } from '../fixture.js';

/** As the error stream would hand it over. */
function errorOf(body: Record<string, string>): Report {
  const { error_message = '', exception_class = null, stack_trace = null, environment = null, file = null } = body;
  const error_level = body['error_level'] as ErrorLevel;
  return errorReport({
    project: body['project'] ?? '',
    title: `${exception_class}: ${error_message.split('\n')[0]}`.slice(0, 160),
    severity: getUrgency(error_level, environment),
    error_level,
    error_message,
    exception_class,
    stack_trace,
    environment,
    file_path: file,
  });
}

describe('bugs: grouping vectors', () => {
  it('exist', () => expect(cases.length).to.be.greaterThan(20));

  for (const { name, endpoint, a, b, same_group } of cases) {
    it(`${name}: creates ${same_group ? 'one item' : 'two items'}`, async () => {
      const fixture = await memoryFixture();
      const native = endpoint.startsWith('/api/errors/');
      const ids: string[] = [];
      for (const body of [a, b]) {
        const report = native ? errorOf(body) : parseReportBody(body as unknown as ReportBody, MANAGER).report;
        ids.push((await fixture.bugs.record(report)).id);
      }
      expect(ids[0] === ids[1]).to.equal(same_group);
      await settled(fixture);
    });
  }
});
