import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const starter = `schema: 1
name: demo
description: Greets you, asks what to call you, and asks for permission before it writes a note
framework: scripted
approval_required_tools: [write_file]
session_files: true
script:
  - say: "Hello! You said: {{prompt}}\\n"
  - ask: { question: "What should I call you?", options: [Captain, Friend] }
  - tool: { name: write_file, input: { path: outputs/note.txt, text: "{{answer}} was here.\\n" } }
  - say: "Thank you, {{answer}}. It is in note.txt.\\n"
`;

/** Creates the agents folder with a demo agent if the folder does not exist. */
export async function ensureAgents(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(join(folder, 'demo'), { recursive: true });
  await writeFile(join(folder, 'demo/agent.yaml'), starter);
}
