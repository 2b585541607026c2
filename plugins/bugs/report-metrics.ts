import type { ReportResult, Report } from '../../ports/domain/bugs.js';
import type { Counter, Metrics } from '../../ports/metrics.js';

const REPORT_SOURCES = ['agent', 'app', 'sdk', 'ui'];
const REPORT_OUTCOMES = ['accepted', 'muted', 'refused'];
const REPORT_TYPES = ['bug', 'feature', 'error'];

export class ReportMetrics {
  readonly #reports: Counter;
  readonly #groups: Counter;

  constructor(metrics: Metrics) {
    this.#reports = metrics.counter('aos_bugs_reports_total', 'Reports, by source and result', {
      source: REPORT_SOURCES,
      outcome: REPORT_OUTCOMES,
    });
    this.#groups = metrics.counter('aos_bugs_groups_created_total', 'Items created by reports, by type', {
      type: REPORT_TYPES,
    });
  }

  countRecorded({ source, type }: Report, done: ReportResult): void {
    this.#reports.inc({ source, outcome: done.ignored_by === null ? 'accepted' : 'muted' });
    if (done.created) this.#groups.inc({ type });
  }

  countRejection(source: Report['source']): void {
    this.#reports.inc({ source, outcome: 'refused' });
  }
}
