import { buildMessage, type NotificationMessage, type MessageLine, type MessageSource } from '../notes/message.js';
import { toSlackText, disableAutolinks } from '../services/text-escaping.js';
import type { MessageSender } from '../services/sender.js';

const LINE_OVERHEAD_BYTES = 60;

const measurePlainText = ({ title, text, url }: MessageLine): number =>
  Buffer.byteLength(disableAutolinks(title)) + Buffer.byteLength(disableAutolinks(text)) + Buffer.byteLength(url);

type MessageMeasure = Pick<MessageSender, 'limits' | 'measure'>;

export function splitNotifications<T extends MessageSource>(
  notes: readonly T[],
  sender: MessageMeasure,
  baseUrl: string,
  zone: string,
): T[][] {
  const { limits } = sender;
  const parts: T[][] = [];
  let left = 0;
  for (const note of notes) {
    const [line] = fitMessage(buildMessage([note], baseUrl, zone), sender).lines;
    const size = line === undefined ? 0 : measureMessage(line, sender);
    const part = parts.at(-1);
    if (part === undefined || part.length >= limits.notes || size > left) {
      parts.push([note]);
      left = limits.bytes - size;
    } else {
      part.push(note);
      left -= size;
    }
  }
  return parts;
}

export function fitMessage(message: NotificationMessage, sender: MessageMeasure): NotificationMessage {
  return { ...message, lines: message.lines.map((line) => fitLine(line, sender)) };
}

const measureMessage = (line: MessageLine, { measure }: MessageMeasure): number =>
  (measure ?? measurePlainText)(line) + LINE_OVERHEAD_BYTES;

function fitLine(line: MessageLine, sender: MessageMeasure): MessageLine {
  const fitted = { ...line };
  const { title = Number.MAX_SAFE_INTEGER } = sender.limits;
  while (toSlackText(fitted.title).length > title) fitted.title = shorten(fitted.title);
  for (const member of ['text', 'title'] as const)
    while (measureMessage(fitted, sender) > sender.limits.bytes && fitted[member].length > 1)
      fitted[member] = shorten(fitted[member]);
  return fitted;
}

function shorten(text: string): string {
  const characters = Array.from(text);
  return `${characters.slice(0, Math.max(0, Math.floor(characters.length * 0.9) - 1)).join('')}…`;
}
