// Collects the notes of an import. Each text appears once, with its tasks or folders.
import { show } from "./imported-row.ts";

export class NoteList {
  readonly #notes = new Map<string, Set<string>>();

  /** @param subjects tasks or folders; none for a note on the whole workspace */
  add(text: string, ...subjects: readonly string[]): void {
    const known = this.#notes.get(text) ?? new Set();
    this.#notes.set(text, known);
    for (const subject of subjects) known.add(subject);
  }

  lines(): string[] {
    return [...this.#notes].map(([text, subjects]) => {
      if (subjects.size === 0) return text;
      const all = [...subjects];
      const more = all.length - MAX_SUBJECTS;
      const names = all
        .slice(0, more > 1 ? MAX_SUBJECTS : all.length)
        .map(show)
        .join(", ");
      return `${names}${more > 1 ? ` and ${more} others` : ""}: ${text}`;
    });
  }
}

const MAX_SUBJECTS = 5;
