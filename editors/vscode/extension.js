// Starts `wgclc lsp` for OpenCL C documents.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async () => {
    const command = workspace.getConfiguration("wgclc").get("path");
    client = new LanguageClient(
        "wgclc",
        "wgclc",
        { command, args: ["lsp"] },
        {
            documentSelector: [{ language: "opencl" }],
            // Headers and settings that other programs change.
            synchronize: { fileEvents: workspace.createFileSystemWatcher("**/{.wgclc.toml,*.cl,*.clh,*.h}") },
        },
    );
    await client.start();
};

exports.deactivate = () => client?.stop();
