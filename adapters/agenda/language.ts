/**
 * Luxon, by which the queue reckons, asks Node for the language of the system with its first time. For that answer,
 * which no job needs, Node reads 7 MB about all languages, and keeps them.
 */
import { Settings } from 'luxon';

Settings.defaultLocale = 'en-US';
