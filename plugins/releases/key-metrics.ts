import type { Metrics } from '../../kernel/contract/index.js';
import type { Signer } from '../../ports/signer.js';

export function registerKeyMetrics(
  metrics: Metrics,
  signer: Pick<Signer, 'getKey' | 'listPredecessors' | 'getKeyStart'>,
): void {
  metrics.gauge(
    'aos_releases_key_since_timestamp_seconds',
    'When the signing key of releases came into use; NaN if releases are unsigned',
    async () => {
      const since = await signer.getKeyStart();
      return since === null ? NaN : Date.parse(since) / 1_000;
    },
  );
  metrics.gauge(
    'aos_releases_key_predecessors',
    'Previous signing keys of releases',
    async () => (await signer.listPredecessors()).length,
  );
  metrics.gauges('aos_releases_key_info', '1 for the signing key of this process', 'key_id', [], async () => {
    const key = await signer.getKey();
    return key === null ? {} : { [key.key_id]: 1 };
  });
}
