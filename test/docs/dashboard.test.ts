/** The Grafana dashboard asks for numbers that the service has. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { SHARED_KEY, TestService } from '../support/service.js';

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

describe('docs/grafana/aos.json', function () {
  it('queries only existing metrics, and the age of every queue', async () => {
    const file = new URL('../../../docs/grafana/aos.json', import.meta.url);
    const { panels } = JSON.parse(await readFile(file, 'utf8')) as Dashboard;
    const service = await TestService.createInProcess();
    try {
      const response = await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${SHARED_KEY}` } });
      const names = new Set((await response.text()).match(/^aos_\w+/gm));
      for (const { title, targets } of panels) {
        for (const { expr } of targets) expect(names, title).to.include(/aos_\w+/.exec(expr)?.[0]);
      }
      const requested = panels.flatMap(({ targets }) => targets.map(({ expr }) => /aos_\w+/.exec(expr)?.[0]));
      expect(requested).to.include.members([...names].filter((name) => name.endsWith('_queue_age_seconds')));
    } finally {
      await service.dispose();
    }
  });
});
