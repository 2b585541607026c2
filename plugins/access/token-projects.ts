import type { TokenProjects } from '../../ports/domain/tokens.js';

export class CombinedTokenProjects implements TokenProjects {
  constructor(private readonly sources: () => readonly TokenProjects[]) {}

  async has(slug: string): Promise<boolean> {
    const known = await Promise.all(this.sources().map((source) => source.has(slug)));
    return known.includes(true);
  }

  async listOptions(): ReturnType<TokenProjects['listOptions']> {
    return (await Promise.all(this.sources().map((source) => source.listOptions()))).flat();
  }
}
