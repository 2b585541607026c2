/**
 * The key that signs releases as Prometheus sees it, and the alarms over it as promtool judges
 * them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MemorySigner } from '../../../../adapters/memory/signers.js';
import { PrometheusMetrics } from '../../../../adapters/node/metrics.js';
import { findPackageRoot } from '../../../../config/load.js';
import { registerKeyMetrics } from '../../../../plugins/releases/key-metrics.js';
import { isRequired } from '../../../support/requirements.js';

const DAY = 86_400;
const OLD = 2 * 365 * DAY;
const REQUIRED = isRequired('promtool');

describe('metrics of the release key', () => {
  const seriesOf = async (metrics: PrometheusMetrics): Promise<string[]> =>
    (await metrics.render()).split('\n').filter((line) => line.startsWith('aos_releases_key'));

  it('include age, id and number of predecessors', async () => {
    const metrics = new PrometheusMetrics();
    const signer = new MemorySigner('rsa-sha256');
    registerKeyMetrics(metrics, signer);
    const first = (await signer.getKey()).key_id;
    expect(await seriesOf(metrics)).to.deep.equal([
      `aos_releases_key_since_timestamp_seconds ${Date.parse(await signer.getKeyStart()) / 1_000}`,
      'aos_releases_key_predecessors 0',
      `aos_releases_key_info{key_id="${first}"} 1`,
    ]);
    signer.rotate();
    const second = (await signer.getKey()).key_id;
    expect((await seriesOf(metrics)).slice(1)).to.deep.equal([
      'aos_releases_key_predecessors 1',
      `aos_releases_key_info{key_id="${second}"} 1`,
    ]);
  });

  it('are absent when releases are unsigned', async () => {
    const metrics = new PrometheusMetrics();
    registerKeyMetrics(metrics, {
      getKey: async () => null,
      listPredecessors: async () => [],
      getKeyStart: async () => null,
    });
    expect(await seriesOf(metrics)).to.deep.equal([
      'aos_releases_key_since_timestamp_seconds Nan',
      'aos_releases_key_predecessors 0',
    ]);
  });

  it('trigger an alert at two years, and when processes sign with different keys', async function () {
    const folder = await mkdtemp(join(tmpdir(), 'aos-rules-'));
    const expected = (name: string, labels: object, summary: string): object => ({
      alertname: name,
      exp_alerts: [
        {
          exp_labels: { severity: 'ticket', ...labels },
          exp_annotations: { summary, runbook: `docs/runbook.md#${name.toLowerCase()}` },
        },
      ],
    });
    const since = { series: 'aos_releases_key_since_timestamp_seconds{job="aos"}', values: '0+0x900' };
    const info = (instance: string, key_id: string): object => ({
      series: `aos_releases_key_info{job="aos",instance="${instance}",key_id="${key_id}"}`,
      values: '1+0x900',
    });
    const differ = expected('AosReleaseKeysDiffer', { job: 'aos' }, 'the processes of aos sign releases by 2 keys');
    const tests = {
      rule_files: [join(findPackageRoot(), 'docs', 'alerts.yml')],
      evaluation_interval: '1d',
      tests: [
        {
          interval: '1d',
          input_series: [since, info('a', '1'), info('b', '1')],
          alert_rule_test: [
            { eval_time: `${OLD / DAY}d`, alertname: 'AosReleaseKeyOld', exp_alerts: [] },
            {
              eval_time: `${OLD / DAY + 2}d`,
              ...expected(
                'AosReleaseKeyOld',
                { job: 'aos' },
                `releases are signed by a key that is ${OLD / DAY + 2}d 0h 0m 0s old`,
              ),
            },
            { eval_time: '3d', alertname: 'AosReleaseKeysDiffer', exp_alerts: [] },
          ],
        },
        {
          interval: '1d',
          input_series: [info('a', '1'), info('b', '2')],
          alert_rule_test: [{ eval_time: '3d', ...differ }],
        },
      ],
    };
    try {
      const file = join(folder, 'tests.yml');
      await writeFile(file, JSON.stringify(tests));
      const { error, status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
      if (error && !REQUIRED) this.skip();
      expect([error, status], `${stdout}${stderr}`).to.deep.equal([undefined, 0]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
