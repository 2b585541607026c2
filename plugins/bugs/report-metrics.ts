import type { Recorded, Report } from '../../ports/domain/bugs.js';
import type { Counter, Metrics } from '../../ports/metrics.js';

const SOURCES = ['agent', 'app', 'sdk', 'ui'];
const OUTCOMES = ['accepted', 'muted', 'refused'];
const TYPES = ['bug', 'feature', 'error'];

export class ReportMetrics {
  readonly #reports: Counter;
  readonly #groups: Counter;

  constructor(metrics: Metrics) {
    this.#reports = metrics.counter(
      'aos_bugs_reports_total',
      'Reports, by where they came from and what came of them',
      {
        source: SOURCES,
        outcome: OUTCOMES,
      },
    );
    this.#groups = metrics.counter('aos_bugs_groups_created_total', 'Items that reports made, by type', {
      type: TYPES,
    });
  }

  recorded({ source, type }: Report, done: Recorded): void {
    this.#reports.inc({ source, outcome: done.ignored_by === null ? 'accepted' : 'muted' });
    if (done.created) this.#groups.inc({ type });
  }

  refused(source: Report['source']): void {
    this.#reports.inc({ source, outcome: 'refused' });
  }
}
