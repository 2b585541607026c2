import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callApi, stopDemo } from '../service.js';
import { runPackagerProgram, SDK_FOLDER, SHOP_FOLDER } from './programs.js';

const UPDATE_SERVICE_PATH = '/api/updateservice/v1';
const CHANNEL = 'stable';

export type CheckoutVariant = 'broken' | 'fixed' | 'worse';

export interface PublishedShop {
  signed: boolean;
  closed_items: string[];
}

export class ShopReleases {
  constructor(
    private readonly url: string,
    private readonly token: string,
    private readonly project: string,
    private readonly folder: string,
  ) {}

  async publish(version: string, checkout: CheckoutVariant, notes: string, percent = 100): Promise<PublishedShop> {
    const home = join(this.folder, version);
    const files = join(home, 'shop');
    await mkdir(join(files, 'sdk'), { recursive: true });
    for (const name of ['till.mjs', 'run.sh', 'setup.json']) await cp(join(SHOP_FOLDER, name), join(files, name));
    await cp(join(SHOP_FOLDER, 'checkout', `${checkout}.mjs`), join(files, 'checkout.mjs'));
    for (const name of ['index.js', 'package.json']) await cp(join(SDK_FOLDER, name), join(files, 'sdk', name));
    const config = join(home, 'packager.json');
    await writeFile(
      config,
      JSON.stringify({ publishDir: 'shop', entry: 'run.sh', preservePatterns: ['settings.json'] }),
    );
    const release = ['--project', this.project, '--version', version, '--channel', CHANNEL, '--platform', 'any'];
    const how = ['--notes', notes, '--rollout-percent', String(percent), '--server', this.url, '--config', config];
    const { published } = await runPackagerProgram([...release, ...how], this.token);
    return published as PublishedShop;
  }

  async isOffered(version: string, instance: string, installed: string): Promise<boolean> {
    const query = new URLSearchParams({ product: this.project, version: installed, instance_id: instance });
    const response = await fetch(`${this.url}${UPDATE_SERVICE_PATH}/check?${query.toString()}`);
    const { release } = (await response.json()) as { release: { version: string } | null };
    return release?.version === version;
  }

  /**
   * Raises the rollout until it includes this machine.
   * @returns the shares; null when even the last one excludes it
   */
  async raiseRollout(
    version: string,
    shares: readonly number[],
    instance: string,
    installed: string,
  ): Promise<number[] | null> {
    const body = { product: this.project, version, channel: CHANNEL, platform: 'any' };
    for (const [n, rollout_percent] of shares.entries()) {
      await callApi(this.url, this.token, 'POST', `${UPDATE_SERVICE_PATH}/rollout`, { ...body, rollout_percent });
      if (await this.isOffered(version, instance, installed)) return shares.slice(0, n + 1);
    }
    return null;
  }

  async get(version: string): Promise<{ id: string; rollout_percent: number; halted_at: string | null }> {
    const path = `${UPDATE_SERVICE_PATH}/releases?product=${this.project}&channel=${CHANNEL}`;
    const { items } = await callApi<{
      items: { id: string; version: string; rollout_percent: number; halted_at: string | null }[];
    }>(this.url, this.token, 'GET', path);
    return items.find((item) => item.version === version) ?? stopDemo(`${version} is not in the list of releases`);
  }
}
