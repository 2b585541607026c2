/** Issues of the sample project (Get started). */
import type { Clock, Principal } from '../../kernel/contract/index.js';
import { HOUR_MS, toIsoString } from '../../lib/time.js';
import { SAMPLE_PROJECT, type SampleDataProvider } from '../../ports/domain/dashboard.js';
import type { BugsApi, Report } from '../../ports/domain/bugs.js';
import type { ItemRemovalService } from './editing/removal.js';
import type { BugDeps } from './deps.js';

const BATCH_SIZE = 100;

type SampleError = Pick<Report, 'error_message' | 'exception_class' | 'file_path' | 'line_no' | 'severity'>;

const ERRORS: readonly (SampleError & { hours: readonly number[] })[] = [
  {
    exception_class: 'TypeError',
    error_message: "Cannot read properties of undefined (reading 'price')",
    file_path: 'src/basket.ts',
    line_no: 41,
    severity: 'high',
    hours: [23, 21, 20, 14, 9, 8, 8, 5, 3, 3, 2, 1, 0],
  },
  {
    exception_class: 'TimeoutError',
    error_message: 'The payment provider did not answer within 10 s',
    file_path: 'src/payment/client.ts',
    line_no: 118,
    severity: 'critical',
    hours: [6, 5, 5, 4, 4, 4, 3],
  },
  {
    exception_class: 'ValidationError',
    error_message: 'Voucher SUMMER has expired',
    file_path: 'src/voucher.ts',
    line_no: 27,
    severity: 'low',
    hours: [19, 12, 2],
  },
];

const REQUESTS: readonly Pick<Report, 'type' | 'title' | 'description' | 'severity'>[] = [
  {
    type: 'bug',
    title: 'The total is wrong when a voucher is removed',
    description: 'Add a voucher, remove it again: the total keeps the discount.',
    severity: 'medium',
  },
  {
    type: 'feature',
    title: 'Show delivery times in the basket',
    description: 'Customers ask for it before they pay.',
    severity: 'low',
  },
];

const formatTrace = ({ exception_class, error_message, file_path, line_no }: SampleError): string =>
  `${exception_class}: ${error_message}\n    at checkout (${file_path}:${line_no}:9)\n    at handle (src/server.ts:12:3)`;

export function createSampleIssues(
  bugs: Pick<BugsApi, 'record'>,
  removal: Pick<ItemRemovalService, 'remove'>,
  { items, counters, clock }: Pick<BugDeps, 'items' | 'counters'> & { clock: Pick<Clock, 'now'> },
): SampleDataProvider {
  const reportedBy = (principal: Principal): string =>
    principal.kind === 'session' ? `user:${principal.account_id}` : principal.kind;
  return {
    order: 10,
    add: async (principal) => {
      const base = { project: SAMPLE_PROJECT, reported_by: reportedBy(principal) };
      for (const { hours, ...error } of ERRORS) {
        for (const [i, ago] of hours.entries()) {
          await bugs.record({
            ...base,
            ...error,
            type: 'error',
            source: 'app',
            title: `${error.exception_class}: ${error.error_message}`,
            error_level: 'error',
            environment: 'production',
            app_version: '1.4.0',
            stack_trace: formatTrace(error),
            user: `customer-${i % 5}`,
            occurred_at: toIsoString(clock.now() - ago * HOUR_MS),
          });
        }
      }
      for (const request of REQUESTS) await bugs.record({ ...base, ...request, source: 'ui' });
    },
    remove: async (principal) => {
      const options = { force: true, reason: 'Sample data removed' };
      for (;;) {
        const page = await items.find({ filter: { project: SAMPLE_PROJECT }, limit: BATCH_SIZE });
        if (page.items.length === 0) break;
        // Duplicates first: an item with duplicates is not deleted.
        const order = page.items.toSorted(
          (a, b) => Number(b.status === 'duplicate') - Number(a.status === 'duplicate'),
        );
        for (const { ref } of order) await removal.remove(ref, principal, options);
      }
      // A project that has numbered an issue cannot be deleted.
      await counters.remove({ id: SAMPLE_PROJECT });
    },
  };
}
