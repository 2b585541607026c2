import type { Manual, ManualPage } from '../../ports/manual.js';

export class MemoryManual implements Manual {
  constructor(
    private readonly given: Readonly<Record<string, string>> = {},
    private readonly pictures: Readonly<Record<string, Uint8Array>> = {},
  ) {}

  async listPages(): Promise<readonly ManualPage[]> {
    return Object.keys(this.given)
      .toSorted()
      .map((name) => ({ name, text: this.given[name] as string }));
  }

  async readPicture(path: string): Promise<{ bytes: Uint8Array; type: string } | null> {
    const bytes = Object.hasOwn(this.pictures, path) ? this.pictures[path] : undefined;
    return bytes === undefined ? null : { bytes, type: 'image/png' };
  }
}
