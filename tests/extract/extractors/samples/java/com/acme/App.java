package com.acme;

import com.acme.util.Helper;
import static com.acme.util.Helper.make;
import java.util.List;

/** Runs. */
@RestController
public class App extends Base implements Sink {
    private final Helper helper;
    private List<Helper> helpers;
    static final int LIMIT = 3;

    public App(Helper helper) { this.helper = helper; }

    @GetMapping("/users")
    public Helper users(String id) {
        helper.help();
        this.helper.help();
        inherited();
        for (Helper one : helpers) one.help();
        helpers.forEach(x -> x.toString());
        return make();
    }

    @Override public void write(String text) { Runnable r = () -> users(text); other(new Other(LIMIT)); }

    private void other(Other value) { value.run(); value.run().help(); var v = new Helper(); v.help(); }

    public static void main(String[] args) { new App(null).write("x"); }
}
