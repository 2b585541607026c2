import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../architecture/tree.js';

export class Guide {
  private constructor(
    private readonly path: string,
    private readonly text: string,
  ) {}

  /** @param path from the root: `README.md`, `docs/packager.md` */
  static async read(path: string): Promise<Guide> {
    return new Guide(path, await readFile(join(projectRoot(), path), 'utf8'));
  }

  /** @returns the text below a heading, up to the next one of its level or a higher one */
  private getSection(heading: string): string {
    const lines = this.text.split('\n');
    const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading);
    if (start < 0) throw new Error(`${this.path} has no heading "${heading}"`);
    const level = lines[start]?.indexOf(' ') ?? 0;
    let isCode = false;
    const length = lines.slice(start + 1).findIndex((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode;
      return !isCode && /^#+ /.test(line) && line.indexOf(' ') <= level;
    });
    return lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join('\n');
  }

  /**
   * @param language of the fence; empty for a terminal session, of which only the commands are
   *   returned
   * @param holds a text that the block contains
   * @throws Error when no block matches
   */
  getBlock(heading: string, language: string, holds = ''): string {
    const blocks = [...this.getSection(heading).matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)];
    for (const [, indent = '', name, code = ''] of blocks) {
      if (name !== language) continue;
      const plain = code.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      if (plain.includes(holds)) return language === '' ? extractCommands(plain) : plain;
    }
    throw new Error(`${this.path}, ${heading}: no block of "${language}" with "${holds}"`);
  }
}

/** Returns the lines after `$ `, including continuations by a backslash or open quotes. */
function extractCommands(session: string): string {
  const commands: string[] = [];
  let goesOn = false;
  for (const line of session.split('\n')) {
    if (!goesOn && !line.startsWith('$ ')) continue;
    commands.push(goesOn ? line : line.slice(2));
    const quotes = commands.join('\n').split("'").length - 1;
    goesOn = line.endsWith('\\') || quotes % 2 === 1;
  }
  return commands.length === 0 ? session : `${commands.join('\n')}\n`;
}

export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  let filled = text;
  for (const [placeholder, value] of Object.entries(values)) {
    if (!filled.includes(placeholder)) throw new Error(`the guide does not show ${placeholder}: ${text}`);
    filled = filled.replaceAll(placeholder, value);
  }
  return filled;
}
