// arrcoc completion SHELL, arrcoc manpage: from the table of commands and options that parses them.
#include "cli/completion.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <list>

#include "arrcoc/error.h"
#include "arrcoc/version.h"
#include "base/join.h"
#include "cli/cli.h"

namespace arrcoc::cli {

namespace {

enum class Shell { bash, zsh, fish };

}  // namespace
}  // namespace arrcoc::cli

namespace arrcoc {
template <>
struct EnumNames<cli::Shell> {
  static constexpr const char* kWhat = "shell";
  static constexpr std::pair<cli::Shell, const char*> kNames[] = {
      {cli::Shell::bash, "bash"}, {cli::Shell::zsh, "zsh"}, {cli::Shell::fish, "fish"}};
};
}  // namespace arrcoc

namespace arrcoc::cli {

namespace {

struct Flag {
  std::string name, help;  // "--budget", one line
  std::string value;       // what it takes; "" for a switch
};

// A command, also the program itself (path "").
struct Command {
  std::string path, help;  // " models info", one line
  std::vector<std::string> operands;
  std::vector<Flag> flags;
  std::vector<const Command*> below;
  std::string name() const { return path.substr(path.rfind(' ') + 1); }
};

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// In the order of the help; parents before their children.
void collect(const CLI::App& app, const std::string& path, std::list<Command>& out) {
  Command& command = out.emplace_back(Command{path, one_line(app.get_description()), {}, {}, {}});
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const bool takes = option->get_expected_max() > 0 && option->get_items_expected_max() > 0;
    if (option->get_positional()) command.operands.push_back(option->get_name(true));
    for (const std::string& name : option->get_lnames())
      command.flags.push_back(
          {"--" + name, one_line(option->get_description()), takes ? option->get_type_name() : ""});
  }
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto before = std::prev(out.end());
    collect(*sub, path + " " + sub->get_name(), out);
    command.below.push_back(&*std::next(before));
  }
}

// 'it''s' in the way of POSIX shells, zsh and, with backslashes, fish.
std::string quoted(const std::string& text, const char* inside) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string(inside) : std::string(1, c);
  return out + "'";
}
std::string quoted(const std::string& text) { return quoted(text, "'\\''"); }

std::string words_of(const Command& command) {
  std::vector<std::string> words;
  for (const Command* sub : command.below) words.push_back(sub->name());
  for (const Flag& flag : command.flags) words.push_back(flag.name);
  return joined(words, " ");
}

// Walks over the words before the cursor: `at` becomes the path of the command.
std::string find_command(const std::list<Command>& commands, const std::string& word) {
  std::string out = "    case \"$at " + word + "\" in\n      ";
  for (const Command& command : commands)
    if (!command.path.empty()) out += quoted(command.path) + "|";
  out.back() = ')';
  return out + " at=\"$at " + word + "\" ;;\n    esac\n";
}

std::string function_name(std::string program) {
  std::replace(program.begin(), program.end(), '-', '_');
  return "_" + program;
}

std::string bash(const std::list<Command>& commands, const std::string& program) {
  const std::string function = function_name(program);
  std::string out = "# bash completion of " + program + ", written by `" + program +
                    " completion bash`\n" + function +
                    "() {\n  local cur=${COMP_WORDS[COMP_CWORD]} at= words= i\n"
                    "  for ((i = 1; i < COMP_CWORD; ++i)); do\n" +
                    find_command(commands, "${COMP_WORDS[i]}") + "  done\n  case $at in\n";
  for (const Command& command : commands)
    out += "    " + quoted(command.path) + ") words=" + quoted(words_of(command)) + " ;;\n";
  out +=
      "  esac\n  if [[ $cur == -* || ${words%% *} != -* ]]; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
      "  else\n    compopt -o filenames 2>/dev/null\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n  fi\n}\n";
  // Only files are file names: a folder 'models' would make "models/" of the command.
  return out + "complete -F " + function + " " + program + "\n";
}

std::string zsh(const std::list<Command>& commands, const std::string& program) {
  const auto entry = [](const std::string& name, const std::string& help) {
    std::string plain = help;
    std::replace(plain.begin(), plain.end(), ':', ';');
    return "        " + quoted(name + ":" + plain) + "\n";
  };
  std::string out = "#compdef " + program + "\n# written by `" + program +
                    " completion zsh`\nlocal at= word\nlocal -a commands flags\n"
                    "for word in ${words[2,CURRENT-1]}; do\n" +
                    find_command(commands, "$word") + "done\ncase $at in\n";
  for (const Command& command : commands) {
    out += "  " + quoted(command.path) + ")\n    commands=(\n";
    for (const Command* sub : command.below) out += entry(sub->name(), sub->help);
    out += "    )\n    flags=(\n";
    for (const Flag& flag : command.flags) out += entry(flag.name, flag.help);
    out += "    ) ;;\n";
  }
  return out +
         "esac\n[[ $#commands -gt 0 ]] && _describe command commands\n"
         "[[ $PREFIX == -* ]] && _describe -o option flags\n"
         "[[ $#commands -eq 0 && $PREFIX != -* ]] && _files\n";
}

std::string fish(const std::list<Command>& commands, const std::string& program) {
  std::string out =
      "# fish completion of " + program + ", written by `" + program + " completion fish`\n";
  const auto line = [&](const std::string& when, const std::string& what, const std::string& help) {
    out += "complete -c " + program + " -n '" + when + "' " + what + " -d " + quoted(help, "\\'") +
           "\n";
  };
  for (const Command& command : commands) {
    std::string when = command.path.empty() ? "__fish_use_subcommand" : "";
    for (size_t at = 0; at < command.path.size();) {  // " models info": both were seen
      const size_t end = std::min(command.path.find(' ', at + 1), command.path.size());
      when += (when.empty() ? "" : "; and ") + std::string("__fish_seen_subcommand_from") +
              command.path.substr(at, end - at);
      at = end;
    }
    for (const Command* sub : command.below) line(when, "-f -a " + sub->name(), sub->help);
    for (const Flag& flag : command.flags)
      line(when, "-l " + flag.name.substr(2) + (flag.value.empty() ? "" : " -r"), flag.help);
  }
  return out;
}

// Text of a manual page: what roff would read as a request or as typography.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-' || c == '\'' || c == '`' || c == '^' || c == '~') {
      out += c == '-'    ? "\\-"
             : c == '\'' ? "\\(aq"
             : c == '`'  ? "\\(ga"
             : c == '^'  ? "\\(ha"
                         : "\\(ti";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string manpage(const std::list<Command>& commands, const std::string& program,
                    const std::string& footer) {
  std::string upper = program;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = ".TH " + upper + " 1 \"\" \"arrcoc " + kVersion + "\"\n.SH NAME\n" +
                    roff(program) + " \\- only the visual tokens that a question needs\n" +
                    ".SH SYNOPSIS\n.B " + roff(program) +
                    "\n[\\-\\-threads N] COMMAND [ARGUMENT...]\n";
  for (const Command& command : commands) {
    if (command.path.empty()) {
      out += ".SH OPTIONS\n";
    } else {
      out += (&command == &*std::next(commands.begin()) ? ".SH COMMANDS\n" : "") +
             std::string(".SS ") + roff(program + command.path);
      for (const std::string& operand : command.operands) out += " " + roff(operand);
      out += "\n" + roff(command.help) + "\n";
    }
    for (const Flag& flag : command.flags)
      if (command.path.empty() || flag.name != "--help")
        out += ".TP\n.B " + roff(flag.name) +
               (flag.value.empty() ? "" : " \\fI" + roff(flag.value) + "\\fR") + "\n" +
               roff(flag.help) + "\n";
  }
  if (!footer.empty()) out += ".SH SEE ALSO\n.nf\n" + roff(footer) + "\n.fi\n";
  return out;
}

std::list<Command> table_of(const CLI::App& app) {
  std::list<Command> out;
  collect(app, "", out);
  return out;
}

std::string program_name() {
  return std::filesystem::read_symlink("/proc/self/exe").filename().string();
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("completion", "print the completion of a shell");
  auto shell = std::make_shared<std::string>();
  sub->add_option("shell", *shell, "bash, zsh or fish")->required();
  sub->callback([&app, shell] {
    const auto commands = table_of(app);
    switch (parse_enum<Shell>(*shell)) {
      case Shell::bash:
        std::cout << bash(commands, program_name());
        break;
      case Shell::zsh:
        std::cout << zsh(commands, program_name());
        break;
      case Shell::fish:
        std::cout << fish(commands, program_name());
        break;
    }
  });
  app.add_subcommand("manpage", "print the manual page")->callback([&app] {
    std::cout << manpage(table_of(app), program_name(), app.get_footer());
  });
}

}  // namespace arrcoc::cli
